from django.urls import path

from chat.profiles.api import views

urlpatterns = [path("profiles", views.ProfileList.as_view(), name="profile-list")]
